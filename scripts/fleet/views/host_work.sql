-- The time that the processes of a job work in a step on a host, their mean, and the steps.
SELECT job, host, avg(work_ns) AS host_work_ns, max(steps_done) AS host_steps
FROM process_work
JOIN (SELECT run, job, host FROM runs WHERE job <> '' AND host <> '') AS placed USING (run)
GROUP BY job, host
