"""Towns, people and tasks of others: what STSS can read and write."""
