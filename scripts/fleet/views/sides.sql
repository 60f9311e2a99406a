-- SPDX-License-Identifier: Apache-2.0
-- Each run of a commit, or version, once as its own (is_later 1) and once as what the next one of its model is compared with
-- (is_later 0). They are in the order of their first runs.
SELECT run, model, {column}, unit, share, 1 AS is_later
FROM units
WHERE {column} <> ''
UNION ALL
SELECT run, model, later_name AS {column}, unit, share, 0 AS is_later
FROM (SELECT run, model, {column} AS earlier_name, unit, share FROM units WHERE {column} <> '') AS earlier
JOIN (
    SELECT model, earlier_name, later_name
    FROM (
        SELECT model, earlier_name, min(other_unix_ns) AS later_unix_ns
        FROM (SELECT model, {column} AS earlier_name, first_unix_ns FROM {firsts}) AS one
        JOIN (SELECT model, first_unix_ns AS other_unix_ns FROM {firsts}) AS other USING (model)
        WHERE other_unix_ns > first_unix_ns
        GROUP BY model, earlier_name
    ) AS followed
    JOIN (SELECT model, {column} AS later_name, first_unix_ns AS later_unix_ns FROM {firsts}) AS later
    USING (model, later_unix_ns)
) AS pairs
USING (model, earlier_name)
