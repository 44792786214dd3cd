"""What was learnt: a function g(a, b) of pairs, from support examples alone."""
