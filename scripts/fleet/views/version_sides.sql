-- SPDX-License-Identifier: Apache-2.0
-- Each run of a model's version, once as the version's own (is_later 1) and once as what the next version is compared with
-- (is_later 0). Versions are in the order of their first runs.
SELECT run, model, model_version, unit, share, 1 AS is_later
FROM units
WHERE model_version <> ''
UNION ALL
SELECT run, model, later_version AS model_version, unit, share, 0 AS is_later
FROM (SELECT run, model, model_version AS earlier_version, unit, share FROM units WHERE model_version <> '') AS earlier
JOIN (
    SELECT model, earlier_version, later_version
    FROM (
        SELECT model, earlier_version, min(other_unix_ns) AS later_unix_ns
        FROM (SELECT model, model_version AS earlier_version, first_unix_ns FROM versions) AS one
        JOIN (SELECT model, first_unix_ns AS other_unix_ns FROM versions) AS other USING (model)
        WHERE other_unix_ns > first_unix_ns
        GROUP BY model, earlier_version
    ) AS followed
    JOIN (SELECT model, model_version AS later_version, first_unix_ns AS later_unix_ns FROM versions) AS later
    USING (model, later_unix_ns)
) AS pairs
USING (model, earlier_version)
