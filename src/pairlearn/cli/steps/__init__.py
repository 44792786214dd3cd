"""The steps of commands, a file for each: `fitting` for `fit`, `pairs/` for `pairs`, `scoring` also for `decide`.

`kinds` says in words what each kind of model is for. Other questions than "same or different" are in `cli/tasks`.
"""
