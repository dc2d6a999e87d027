"""What the database knows of a signed-in person."""

# As Django's own backend answers, in one statement: asked before each of many reviews.
MAY = """
SELECT EXISTS (
    SELECT FROM auth_user u
    WHERE u.id = %(user)s AND u.is_active AND u.is_staff
      AND (u.is_superuser OR EXISTS (
        SELECT FROM auth_permission p
        JOIN django_content_type c ON c.id = p.content_type_id
        WHERE c.app_label = %(app)s AND p.codename = %(codename)s
          AND (EXISTS (SELECT FROM auth_user_user_permissions o
                       WHERE o.user_id = u.id AND o.permission_id = p.id)
            OR EXISTS (SELECT FROM auth_user_groups m
                       JOIN auth_group_permissions o ON o.group_id = m.group_id
                       WHERE m.user_id = u.id AND o.permission_id = p.id)))))
"""
