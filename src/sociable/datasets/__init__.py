"""What makes data sets and has people review them."""
