"""How the data of each benchmark are made: a recipe is a list of stages."""
