-- SPDX-License-Identifier: Apache-2.0
-- The versions of each model, with their first runs.
SELECT model, model_version, min(start_unix_ns) AS first_unix_ns, count(*) AS runs
FROM runs
WHERE model_version <> ''
GROUP BY model, model_version
