"""HSII: instructions kept in mind."""
