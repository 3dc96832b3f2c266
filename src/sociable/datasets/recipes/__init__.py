"""Recipes for the data of each benchmark."""
