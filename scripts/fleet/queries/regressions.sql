-- SPDX-License-Identifier: Apache-2.0
-- what got significantly worse with a version of a model: the peak, and the time of a step, against the version before
--
-- Welch's t test over the jobs, one-sided, at one in a thousand; the critical value of t by its expansion in 1/df (Abramowitz and
-- Stegun, 26.7.5). A version needs 8 jobs. A standard deviation below a millionth of the means counts as that.
-- No rows: no version of a model is significantly worse than the one before; it takes 8 jobs of each (load --label model=..., model_version=...)
SELECT model, model_version, measure, jobs, earlier_jobs, mean, earlier_mean, mean / nullif(earlier_mean, 0) AS ratio, t, df
FROM (
    SELECT model, model_version, measure, jobs, earlier_jobs, mean, earlier_mean,
        (mean - earlier_mean) / nullif(sqrt(variance + earlier_variance), 0) AS t,
        (variance + earlier_variance) * (variance + earlier_variance) /
            nullif(variance * variance / (jobs - 1) + earlier_variance * earlier_variance / (earlier_jobs - 1), 0) AS df
    FROM (
        SELECT model, model_version, measure, jobs, earlier_jobs, mean, earlier_mean,
            CASE WHEN spread > least_spread THEN spread ELSE least_spread END / jobs AS variance,
            CASE WHEN earlier_spread > least_spread THEN earlier_spread ELSE least_spread END / earlier_jobs AS earlier_variance
        FROM (
            SELECT model, model_version, measure, jobs, earlier_jobs,
                total / jobs AS mean, earlier_total / earlier_jobs AS earlier_mean,
                1e-12 * (total / jobs * total / jobs + earlier_total / earlier_jobs * earlier_total / earlier_jobs) AS least_spread,
                (squares - total * total / jobs) / (jobs - 1) AS spread,
                (earlier_squares - earlier_total * earlier_total / earlier_jobs) / (earlier_jobs - 1) AS earlier_spread
            FROM (
                SELECT model, model_version, measure, CAST(sum(is_later) AS Float64) AS jobs,
                    CAST(sum(1 - is_later) AS Float64) AS earlier_jobs,
                    sum(CASE WHEN is_later = 1 THEN job_measured ELSE 0 END) AS total,
                    sum(CASE WHEN is_later = 0 THEN job_measured ELSE 0 END) AS earlier_total,
                    sum(CASE WHEN is_later = 1 THEN job_measured * job_measured ELSE 0 END) AS squares,
                    sum(CASE WHEN is_later = 0 THEN job_measured * job_measured ELSE 0 END) AS earlier_squares
                FROM (
                    SELECT model, model_version, measure, is_later, unit, avg(measured) AS job_measured
                    FROM (
                        SELECT run, 'peak_bytes' AS measure, CAST(peak_bytes AS Float64) AS measured FROM runs
                        UNION ALL
                        SELECT run, 'step_ns' AS measure,
                            CAST(sum(time_ns * steps) AS Float64) / CAST(sum(steps) AS Float64) AS measured
                        FROM steps
                        GROUP BY run
                    ) AS measures
                    JOIN (SELECT run, model, model_version, unit, is_later FROM version_sides) AS sides USING (run)
                    GROUP BY model, model_version, measure, is_later, unit
                ) AS by_job
                GROUP BY model, model_version, measure
            ) AS sums
            WHERE jobs >= 8 AND earlier_jobs >= 8
        ) AS moments
        WHERE mean > earlier_mean AND earlier_mean > 0
    ) AS floored
) AS tested
WHERE t > 3.0902 + 8.150 / df + 19.69 / (df * df) + 36.15 / (df * df * df)
ORDER BY ratio DESC, model, model_version, measure
