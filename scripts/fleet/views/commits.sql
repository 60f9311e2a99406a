-- SPDX-License-Identifier: Apache-2.0
-- The commits of each model, with their first runs.
SELECT model, commit_id, min(start_unix_ns) AS first_unix_ns, count(*) AS runs
FROM runs
WHERE commit_id <> ''
GROUP BY model, commit_id
