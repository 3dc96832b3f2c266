"""What the command line does, one call each: a module for each subject."""
