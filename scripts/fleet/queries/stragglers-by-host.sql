-- SPDX-License-Identifier: Apache-2.0
-- which hosts hold their jobs up: the time that a host's processes work in a step, against the job's other hosts
--
-- A host that is like the others would be the slowest of its job in expected_slowest jobs; z says by how many standard deviations it
-- is so more often. lost_ns is what all of its jobs would have saved with the host as fast as the mean of the others.
-- No rows: no job has processes with steps on two hosts
SELECT host, jobs, slowest, expected AS expected_slowest, (slowest - expected) / sqrt(variance) AS z, mean_ratio, lost AS lost_ns
FROM (
    SELECT host, count(*) AS jobs, sum(CASE WHEN host_work_ns >= most THEN 1 ELSE 0 END) AS slowest, sum(1 / hosts) AS expected,
        sum((1 - 1 / hosts) / hosts) AS variance, avg(host_work_ns * (hosts - 1) / (total - host_work_ns)) AS mean_ratio,
        sum((host_work_ns - (total - host_work_ns) / (hosts - 1)) * host_steps) AS lost
    FROM (SELECT job, host, host_work_ns, host_steps FROM host_work) AS by_host
    JOIN (
        SELECT job, CAST(count(*) AS Float64) AS hosts, sum(host_work_ns) AS total, max(host_work_ns) AS most
        FROM host_work
        GROUP BY job
    ) AS by_job
    USING (job)
    WHERE hosts >= 2 AND total > host_work_ns
    GROUP BY host
) AS judged
ORDER BY lost_ns DESC, host
