"""Hidden profiles: a group must pool what each knows to find the one answer that follows from all of it."""
