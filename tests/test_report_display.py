from bayesing.report.display import Display


def test_the_bar_knows_how_far_it_is():
    with Display() as display:
        display.begin("one")
        display.plan({"one": 1.0, "two": 4.0, "three": 5.0})
        display.begin("two")
        task = display.bar.tasks[0]
        assert (task.completed, task.total, task.description) == (1.0, 10.0, "two")
        display.advance(3, 4)
        assert task.completed == 4.0
        display.begin("three")
        assert task.completed == 5.0
        assert display.bar.disable  # standard error is no terminal here
