"""How HSII's data are built: out of news (section 5.1, Appendix B), and out of dialogues that are there already."""
