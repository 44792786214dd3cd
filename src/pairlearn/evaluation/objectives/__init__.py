"""What a search may be asked for: `precision` is the area under the precision-recall curve, `answers` judges orders and
numbers by what each answer is worth, `named` finds measures and judgements by the names that a command line takes.
"""
