"""How the problem of one working set is solved: one file per method, one table that orders them.

`subproblem` is what every method gets (Q, θ, v, box) and how it ends; `quadratic` holds Q and factors it, `low_rank`
finds out when its rank is low. The methods, cheapest first: `burst` (SMO), `pivoting` with the equations of
`free_system`, `crossing` from the end of `interior`, along the points of `central_path`, to a vertex. `order` is the
table of attempts with its reasons. A new method is one file with a frozen class that has
`run(subproblem, tol, clock) -> Outcome`, and one row there.
"""
