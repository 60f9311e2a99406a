-- SPDX-License-Identifier: Apache-2.0
-- the ten lines that hold most memory in the fleet: live at the peaks of all processes of all runs, added up
-- No rows: no run was loaded
SELECT function_name, file_name, line_number, count(*) AS runs, sum(held) AS held_bytes, max(held) AS most_in_a_run_bytes
FROM (
    SELECT run, coalesce(function, '') AS function_name, coalesce(file, '') AS file_name, coalesce(line, 0) AS line_number,
        sum(peak_bytes) AS held
    FROM sites
    WHERE peak_bytes > 0
    GROUP BY run, function_name, file_name, line_number
) AS by_run
JOIN (SELECT run FROM runs) AS whole USING (run)
GROUP BY function_name, file_name, line_number
ORDER BY held_bytes DESC, function_name, file_name, line_number
LIMIT 10
