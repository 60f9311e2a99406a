-- SPDX-License-Identifier: Apache-2.0
-- The time that a process works in a step: without the communication that waits for others (ops of category mpi, but for its
-- beginning and end).
SELECT run, process, (step_ns - coalesce(wait_ns, 0)) / steps_done AS work_ns, steps_done
FROM (
    SELECT run, process, CAST(sum(time_ns * steps) AS Float64) AS step_ns, CAST(sum(steps) AS Float64) AS steps_done
    FROM steps
    GROUP BY run, process
) AS stepped
LEFT JOIN (
    SELECT run, process, CAST(sum(self_ns) AS Float64) AS wait_ns
    FROM ops
    WHERE category = 'mpi' AND lower(op) NOT LIKE 'mpi_init%' AND lower(op) NOT LIKE 'mpi_finalize%'
    GROUP BY run, process
) AS waits
USING (run, process)
