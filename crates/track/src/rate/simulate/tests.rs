use super::*;

const GROUPS: [PageGroup; 4] = [
    PageGroup { pages: 200, every: 0.1, spread: 3.0 },
    PageGroup { pages: 80, every: 3.0, spread: 2.0 },
    PageGroup { pages: 60, every: 45.0, spread: 2.0 },
    PageGroup { pages: 60, every: 400.0, spread: 2.0 },
];

fn world() -> World {
    World::of(&GROUPS, 800.0, 3.0, 1)
}

#[test]
fn regular_visits_of_equal_pages_are_as_fresh_as_theory_says() {
    let world = World::of(&[PageGroup { pages: 400, every: 10.0, spread: 1.0 }], 500.0, 40.0, 2);
    let outcome = simulate(&world, Policy::Uniform, 1);
    let wanted = (1.0 - (-1.0_f64).exp()) / 1.0;
    assert!((outcome.freshness - wanted).abs() < 0.01, "{outcome:?}, not {wanted}");
    // The age of a page visited every T days: T (1/2 - 1/x + (1 - exp(-x))/x²) with x = λT.
    let age = 10.0 * (0.5 - 1.0 + wanted);
    assert!((outcome.age - age).abs() < 0.05, "{outcome:?}, not {age}");
    assert!((outcome.visits as f64 - 20_000.0).abs() < 100.0, "{outcome:?}");
}

#[test]
fn with_known_rates_the_optimum_is_reached() {
    let (world, best) = (world(), optimum(&world()));
    let known = simulate(&world, Policy::Known, 1).freshness;
    assert!(known > 0.99 * best && known < 1.01 * best, "{known} of {best}");
}

#[test]
fn ours_beats_uniform_and_proportional_and_learning_comes_near_knowing() {
    let world = world();
    let [uniform, proportional, known, learning] = Policy::ALL.map(|policy| simulate(&world, policy, 1));
    for other in [&uniform, &proportional] {
        assert!(known.freshness > 1.25 * other.freshness, "{known:?} {other:?}");
        assert!(learning.freshness > 1.15 * other.freshness, "{learning:?} {other:?}");
    }
    assert!(learning.freshness > 0.85 * known.freshness, "{learning:?} {known:?}");
    assert!(learning.visits.abs_diff(uniform.visits) < 10, "{learning:?} {uniform:?}");
}

#[test]
fn a_recorded_history_is_met_as_it_was() {
    let page = |at: &[f64]| SimulatedPage { host: 0, rate: 0.01, changes: ChangeTimes::At(at.to_vec()) };
    let world = World { pages: vec![page(&[40.0, 60.0]), page(&[])], span: 100.0, budget: 0.0201 };
    let outcome = simulate(&world, Policy::Uniform, 1);
    assert_eq!((outcome.visits, outcome.changes), (2, 1), "{outcome:?}");
    // The first page is visited on day 50 and the other on day 100; time before day 25 does not
    // count.
    assert!((outcome.freshness - (15.0 + 10.0 + 75.0) / 150.0).abs() < 0.01, "{outcome:?}");
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    let world = World::of(&GROUPS[2..], 60.0, 10.0, 1);
    assert_eq!(simulate(&world, Policy::Learning, 5), simulate(&world, Policy::Learning, 5));
    assert_ne!(simulate(&world, Policy::Learning, 5), simulate(&world, Policy::Learning, 6));
}

#[test]
fn worlds_without_pages_time_or_budget_are_survived() {
    for (groups, span, budget) in
        [(&GROUPS[..0], 10.0, 1.0), (&GROUPS[..], 0.0, 1.0), (&GROUPS[..], 5.0, 0.0), (&GROUPS[3..], 2.0, 1e9)]
    {
        let world = World::of(groups, span, budget, 1);
        for policy in Policy::ALL {
            let outcome = simulate(&world, policy, 1);
            assert!(outcome.freshness.is_finite() && outcome.age.is_finite(), "{outcome:?}");
        }
        assert!(optimum(&world).is_finite());
    }
}
