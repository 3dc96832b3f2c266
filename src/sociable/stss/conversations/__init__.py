"""STSS's language level: conversations frozen out of simulations and played again (section 3.2)."""
