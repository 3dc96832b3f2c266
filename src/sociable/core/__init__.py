"""Records, errors, prompts, words, seeding, run folders. Imports nothing of ours."""
