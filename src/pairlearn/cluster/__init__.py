"""More than one machine: fits, scores and searches with the help of Dask's workers.

`session` is the way in, `pl.on_cluster(client)`, and all that is known of Dask; `operator` makes products over all
pairs on the workers, `worker` is what runs there. Working sets, factors and certificates stay on the driver.
"""
