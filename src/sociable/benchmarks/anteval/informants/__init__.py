"""AntEval's information exchange with informants who have a will: a price, a fear, a lie, a word aside."""
