"""The demonstrations of `pairlearn demo`, each on things that everybody knows.

`classes.py` learns from more and more invented classes. The others are tables that are written to a folder and three
commands that are run there (`demo.py`): `digits.py` handwritten digits, `products.py` records with typing errors,
`players.py` a game that runs in circles.
"""
