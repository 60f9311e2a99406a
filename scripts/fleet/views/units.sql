-- SPDX-License-Identifier: Apache-2.0
-- What tests of significance count once: a job, however many runs are of it, as its ranks are not independent of each other. A run
-- has its share of its job.
SELECT run, model, model_version, commit_id, unit, 1 / unit_runs AS share
FROM (SELECT run, model, model_version, commit_id, CASE WHEN job = '' THEN run ELSE job END AS unit FROM runs) AS placed
JOIN (
    SELECT unit, CAST(count(*) AS Float64) AS unit_runs
    FROM (SELECT CASE WHEN job = '' THEN run ELSE job END AS unit FROM runs) AS named
    GROUP BY unit
) AS counted
USING (unit)
