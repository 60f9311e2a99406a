-- SPDX-License-Identifier: Apache-2.0
-- The commits, or versions, of each model, with their first runs.
SELECT model, {column}, min(start_unix_ns) AS first_unix_ns, count(*) AS runs
FROM runs
WHERE {column} <> ''
GROUP BY model, {column}
