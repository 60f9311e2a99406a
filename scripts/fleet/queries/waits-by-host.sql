-- SPDX-License-Identifier: Apache-2.0
-- which hosts make ranks on other hosts wait: by the calls of MPI and torch.distributed themselves, over all jobs
--
-- made_wait_ns is what ranks on other hosts waited for ranks of the host, made_waits how often; jobs are those in which they did.
-- No rows: no rank has waited for a rank of another host
SELECT late AS host, count(*) AS jobs, sum(made) AS made_wait_ns, sum(often) AS made_waits, max(made) AS most_in_a_job_ns
FROM (
    SELECT late, job_or_run, sum(in_run) AS made, sum(waits_in_run) AS often
    FROM (
        SELECT run, late_host AS late, sum(wait_ns) AS in_run, sum(waits) AS waits_in_run
        FROM rank_waits
        WHERE host <> late_host
        GROUP BY run, late_host
    ) AS by_run
    JOIN (SELECT run, CASE WHEN job = '' THEN run ELSE job END AS job_or_run FROM runs) AS known USING (run)
    GROUP BY late, job_or_run
) AS by_job
GROUP BY late
ORDER BY made_wait_ns DESC, late
