"""What the Gram matrix of a pair kernel can do, and which way of doing it fits into memory.

In the order the data goes: `resolve` fixes everything that depends on the training pairs, `plan` decides by the
memory budget what is held and which operator serves, `build` makes that operator, and `held` counts its arrays.
`rows` is what a kernel sees of some pairs; `source` gives the base kernel's values between their examples, `fill` the
values of a table from these. `base` says what every operator can do; `dense` holds the matrix itself, `blocked`
computes any kernel block by block, `product` multiplies tables by two matrix products over examples (`form` is that
trick, also used by learnt functions), and `thin` writes matrices of low rank as a product of two thin ones.
"""
