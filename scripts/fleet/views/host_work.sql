-- SPDX-License-Identifier: Apache-2.0
-- The time that the processes of a job work in a step on a host, their mean, and the steps. Where a run is on several hosts, its
-- processes tell theirs.
SELECT job, host, avg(work_ns) AS host_work_ns, max(steps_done) AS host_steps
FROM (
    SELECT job, work_ns, steps_done, CASE WHEN run_host = '' THEN process_host ELSE run_host END AS host
    FROM (
        SELECT run, work_ns, steps_done, process_host
        FROM process_work
        JOIN (SELECT run, process, coalesce(host, '') AS process_host FROM processes) AS known USING (run, process)
    ) AS worked
    JOIN (SELECT run, job, host AS run_host FROM runs WHERE job <> '') AS placed USING (run)
) AS hosted
WHERE host <> ''
GROUP BY job, host
