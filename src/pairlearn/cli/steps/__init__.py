"""The steps of commands: `identifying.py`, `explaining.py`, `informing.py`, and three for `pairs`.

`kinds.py` says in words what each kind of model is for.
"""
