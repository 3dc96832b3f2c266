"""Duels: two models meet in a scene, each with a hidden sheet, and what each gets is a quantity."""
