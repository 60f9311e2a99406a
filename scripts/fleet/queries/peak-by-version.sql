-- SPDX-License-Identifier: Apache-2.0
-- the peak of each version of a model, week by week (from Monday on, UTC)
-- No rows: no run was loaded
SELECT model, model_version, week_unix_ns, count(*) AS runs, avg(CAST(peak_bytes AS Float64)) AS mean_peak_bytes,
    max(peak_bytes) AS largest_peak_bytes
FROM (
    SELECT model, model_version, start_unix_ns - (start_unix_ns + 259200000000000) % 604800000000000 AS week_unix_ns, peak_bytes
    FROM runs
) AS weekly
GROUP BY model, model_version, week_unix_ns
ORDER BY model, model_version, week_unix_ns
