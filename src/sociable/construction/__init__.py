"""General steps for building data sets. Knows no benchmark."""
