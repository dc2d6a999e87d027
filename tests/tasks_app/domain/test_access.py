"""How far a caller reaches."""

from orbit.ids import new_id
from tasks_app.domain.access import Reach


def test_a_reach_covers_its_queues_of_its_namespace_only():
    namespace_id, queue_id = new_id(), new_id()
    reach = Reach(namespace_id=namespace_id, queue_ids=(queue_id,))

    assert reach.covers(namespace_id=namespace_id, queue_id=queue_id)
    assert not reach.covers(namespace_id=namespace_id, queue_id=new_id())
    assert not reach.covers(namespace_id=new_id(), queue_id=queue_id)


def test_no_queues_are_nothing_and_none_is_the_whole_namespace():
    namespace_id, queue_id = new_id(), new_id()

    nothing = Reach(namespace_id=namespace_id, queue_ids=())
    all_of_it = Reach(namespace_id=namespace_id, queue_ids=None)

    assert not nothing.covers(namespace_id=namespace_id, queue_id=queue_id)
    assert all_of_it.covers(namespace_id=namespace_id, queue_id=queue_id)
    assert not all_of_it.covers(namespace_id=new_id(), queue_id=queue_id)
