-- SPDX-License-Identifier: Apache-2.0
-- the ten lines that hold most memory at the peaks of all runs, added up: of each stack the user's own line, if it has one
-- No rows: no run was loaded
SELECT function_name, file_name, line_number, count(*) AS runs, sum(held) AS held_bytes, max(held) AS most_in_a_run_bytes
FROM (
    SELECT run, coalesce(CASE WHEN user_file IS NULL THEN function ELSE user_function END, '') AS function_name,
        coalesce(CASE WHEN user_file IS NULL THEN file ELSE user_file END, '') AS file_name,
        coalesce(CASE WHEN user_file IS NULL THEN line ELSE user_line END, 0) AS line_number, sum(peak_bytes) AS held
    FROM sites
    WHERE peak_bytes > 0
    GROUP BY run, function_name, file_name, line_number
) AS by_run
JOIN (SELECT run FROM runs) AS whole USING (run)
GROUP BY function_name, file_name, line_number
ORDER BY held_bytes DESC, function_name, file_name, line_number
LIMIT 10
