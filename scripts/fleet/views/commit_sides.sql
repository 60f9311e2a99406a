-- SPDX-License-Identifier: Apache-2.0
-- Each run of a commit, once as the commit's own (is_later 1) and once as what the next commit of its model is compared with
-- (is_later 0). Commits are in the order of their first runs.
SELECT run, model, commit_id, unit, share, 1 AS is_later
FROM units
WHERE commit_id <> ''
UNION ALL
SELECT run, model, later_commit_id AS commit_id, unit, share, 0 AS is_later
FROM (SELECT run, model, commit_id AS earlier_commit_id, unit, share FROM units WHERE commit_id <> '') AS earlier
JOIN (
    SELECT model, earlier_commit_id, later_commit_id
    FROM (
        SELECT model, earlier_commit_id, min(other_unix_ns) AS later_unix_ns
        FROM (SELECT model, commit_id AS earlier_commit_id, first_unix_ns FROM commits) AS one
        JOIN (SELECT model, first_unix_ns AS other_unix_ns FROM commits) AS other USING (model)
        WHERE other_unix_ns > first_unix_ns
        GROUP BY model, earlier_commit_id
    ) AS followed
    JOIN (SELECT model, commit_id AS later_commit_id, first_unix_ns AS later_unix_ns FROM commits) AS later
    USING (model, later_unix_ns)
) AS pairs
USING (model, earlier_commit_id)
