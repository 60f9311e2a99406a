-- SPDX-License-Identifier: Apache-2.0
-- which commit made the peak grow, and in which line: each commit of a model against the one before it
--
-- Welch's t test over the jobs of what a line holds at the peak of a run, one-sided, at one in a million, as many lines of many
-- commits are tested; the critical value of t by its expansion in 1/df (Abramowitz and Stegun, 26.7.5). A commit needs 8 jobs. A run
-- that does not have the line has 0 of it. A standard deviation below a millionth of the means counts as that.
-- No rows: no line of a model held significantly more than at the commit before; it takes 8 jobs of each (load --label model=..., commit_id=...)
SELECT model, commit_id, function_name, file_name, line_number, jobs, earlier_jobs, mean AS mean_bytes,
    earlier_mean AS earlier_mean_bytes, mean - earlier_mean AS growth_bytes, t, df
FROM (
    SELECT model, commit_id, function_name, file_name, line_number, jobs, earlier_jobs, mean, earlier_mean,
        (mean - earlier_mean) / nullif(sqrt(variance + earlier_variance), 0) AS t,
        (variance + earlier_variance) * (variance + earlier_variance) /
            nullif(variance * variance / (jobs - 1) + earlier_variance * earlier_variance / (earlier_jobs - 1), 0) AS df
    FROM (
        SELECT model, commit_id, function_name, file_name, line_number, jobs, earlier_jobs, mean, earlier_mean,
            CASE WHEN spread > least_spread THEN spread ELSE least_spread END / jobs AS variance,
            CASE WHEN earlier_spread > least_spread THEN earlier_spread ELSE least_spread END / earlier_jobs AS earlier_variance
        FROM (
            SELECT model, commit_id, function_name, file_name, line_number, jobs, earlier_jobs,
                total / jobs AS mean, earlier_total / earlier_jobs AS earlier_mean,
                1e-12 * (total / jobs * total / jobs + earlier_total / earlier_jobs * earlier_total / earlier_jobs) AS least_spread,
                (squares - total * total / jobs) / (jobs - 1) AS spread,
                (earlier_squares - earlier_total * earlier_total / earlier_jobs) / (earlier_jobs - 1) AS earlier_spread
            FROM (
                SELECT model, commit_id, function_name, file_name, line_number,
                    sum(CASE WHEN is_later = 1 THEN job_held ELSE 0 END) AS total,
                    sum(CASE WHEN is_later = 0 THEN job_held ELSE 0 END) AS earlier_total,
                    sum(CASE WHEN is_later = 1 THEN job_held * job_held ELSE 0 END) AS squares,
                    sum(CASE WHEN is_later = 0 THEN job_held * job_held ELSE 0 END) AS earlier_squares
                FROM (
                    SELECT model, commit_id, function_name, file_name, line_number, is_later, unit, sum(held * share) AS job_held
                    FROM (
                        SELECT run, coalesce(CASE WHEN user_file IS NULL THEN function ELSE user_function END, '') AS function_name,
                            coalesce(CASE WHEN user_file IS NULL THEN file ELSE user_file END, '') AS file_name,
                            coalesce(CASE WHEN user_file IS NULL THEN line ELSE user_line END, 0) AS line_number,
                            CAST(sum(peak_bytes) AS Float64) AS held
                        FROM sites
                        WHERE peak_bytes > 0
                        GROUP BY run, function_name, file_name, line_number
                    ) AS by_run
                    JOIN (SELECT run, model, commit_id, unit, share, is_later FROM commit_sides) AS sides USING (run)
                    GROUP BY model, commit_id, function_name, file_name, line_number, is_later, unit
                ) AS by_job
                GROUP BY model, commit_id, function_name, file_name, line_number
            ) AS sums
            JOIN (
                SELECT model, commit_id, CAST(sum(is_later) AS Float64) AS jobs, CAST(sum(1 - is_later) AS Float64) AS earlier_jobs
                FROM (SELECT DISTINCT model, commit_id, unit, is_later FROM commit_sides) AS each_once
                GROUP BY model, commit_id
            ) AS counts
            USING (model, commit_id)
            WHERE jobs >= 8 AND earlier_jobs >= 8
        ) AS moments
        WHERE mean > earlier_mean
    ) AS floored
) AS tested
WHERE t > 4.7534 + 28.04 / df + 144.4 / (df * df) + 552.9 / (df * df * df)
ORDER BY growth_bytes DESC, model, commit_id, function_name, file_name, line_number
LIMIT 20
