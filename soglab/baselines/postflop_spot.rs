// Solves the spots of `sog bench holdem` by postflop-solver: every hand, pot 1,000, stacks 20,000, bets and raises of
// half the pot, the pot and all-in. Or measures a policy of ours by that program: it locks one player's decisions to
// the policy and lets the other best-respond. It is ours and calls only what that library offers; nothing of it is here.
//
// In a checkout of https://github.com/b-inary/postflop-solver (9d1509f): copy this file to examples/spot.rs, then
//     RUSTFLAGS="-C target-cpu=native" cargo build --release --example spot
//     RAYON_NUM_THREADS=1 target/release/examples/spot 2s2h2d7c9c 32 1000 200
// BOARD, 32 or 16 bits, iterations, iterations between two lines. Newer compilers want RUSTFLAGS to hold
// `-A dangerous_implicit_autorefs`, too. A policy is measured by
//     target/release/examples/spot 2s2h2d7c9c read policy.csv [STACK RANGE0 RANGE1]
// where `sog solve SPOT --out spot.npz` and `sog show spot.npz --whole policy.csv` wrote policy.csv.

use postflop_solver::*;
use std::collections::HashMap;

// User and system time of this process, in seconds (Linux).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn spot(board: &str, stack: i32, range: [Range; 2]) -> PostFlopGame {
    let on_river = board.len() == 10;
    let cards = CardConfig {
        range,
        flop: flop_from_str(&board[0..6]).unwrap(),
        turn: card_from_str(&board[6..8]).unwrap(),
        river: if on_river { card_from_str(&board[8..10]).unwrap() } else { NOT_DEALT },
    };
    let bets = BetSizeOptions::try_from(("50%,100%,a", "50%,100%,a")).unwrap();
    let both = || [bets.clone(), bets.clone()];
    let tree = TreeConfig {
        initial_state: if on_river { BoardState::River } else { BoardState::Turn },
        starting_pot: 1000,
        effective_stack: stack,
        rake_rate: 0.0,
        rake_cap: 0.0,
        flop_bet_sizes: both(),
        turn_bet_sizes: both(),
        river_bet_sizes: both(),
        turn_donk_sizes: None,
        river_donk_sizes: None,
        // No bet is added, rounded up to all-in or merged with another.
        add_allin_threshold: 0.0,
        force_allin_threshold: 0.0,
        merging_threshold: 0.0,
    };
    PostFlopGame::with_config(cards, ActionTree::new(tree).unwrap()).unwrap()
}

// A decision's actions in the order of the file, each with the probability that each hand takes it.
type Decision = Vec<(String, HashMap<(Card, Card), f32>)>;
type Policy = HashMap<String, Decision>;

fn pair(first: Card, second: Card) -> (Card, Card) {
    (first.min(second), first.max(second))
}

// The decisions of a file by their public states: the board, then what was done and dealt.
// A row is `"board 2s2h2d7c9c, check",1,AdAc,1,bet 500 (0.5),0.25`, without quotes where nothing was done yet.
fn policy_of(file: &str) -> Policy {
    let mut policy = Policy::new();
    for row in std::fs::read_to_string(file).unwrap().lines().skip(1) {
        let (state, rest) = match row.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\",").unwrap(),
            None => row.split_once(',').unwrap(),
        };
        let fields: Vec<&str> = rest.split(',').collect();
        let (hand, action) = (fields[1], fields[3].split(" (").next().unwrap());
        let hand = pair(card_from_str(&hand[..2]).unwrap(), card_from_str(&hand[2..]).unwrap());
        let decision = policy.entry(state.to_string()).or_default();
        if !decision.iter().any(|(word, _)| word == action) {
            decision.push((action.to_string(), HashMap::new()));
        }
        let taken = decision.iter_mut().find(|(word, _)| word == action).unwrap();
        taken.1.insert(hand, fields[4].parse().unwrap());
    }
    policy
}

// The library's action as the file writes it; the first bet of a street is "bet 500", the next "raise to 1500".
fn word(action: Action, actions: &[Action]) -> String {
    match action {
        Action::Bet(chips) | Action::Raise(chips) | Action::AllIn(chips) => {
            format!("{} {chips}", if actions.contains(&Action::Check) { "bet" } else { "raise to" })
        }
        other => format!("{other:?}").to_lowercase(),
    }
}

// Locks every decision of `player` from the current one on to the policy, or frees it. `state` is the current public
// state as the file has it.
fn lock(game: &mut PostFlopGame, policy: &Policy, player: usize, locked: bool, state: &str) {
    let history = game.history().to_vec();
    if game.is_terminal_node() {
        return;
    }
    if game.is_chance_node() {
        for card in (0..52).filter(|card| game.possible_cards() >> card & 1 == 1).collect::<Vec<usize>>() {
            game.play(card);
            let name = card_to_string(card as Card).unwrap();
            let (board, line) = state.split_once(',').unwrap_or((state, ""));
            lock(game, policy, player, locked, &format!("{board}{name},{line}, {name}"));
            game.apply_history(&history);
        }
        return;
    }
    let actions = game.available_actions();
    let words: Vec<String> = actions.iter().map(|&action| word(action, &actions)).collect();
    if game.current_player() == player && !locked {
        game.unlock_current_strategy();
    } else if let (true, Some(decision)) = (game.current_player() == player, policy.get(state)) {
        // A decision that no hand comes to is not in the file, and needs no policy.
        assert!(decision.iter().map(|(word, _)| word).eq(&words), "{state}: {words:?}");
        let hands = game.private_cards(player).to_vec();
        let share = |taken: &HashMap<_, f32>, &(a, b): &(Card, Card)| taken.get(&pair(a, b)).copied().unwrap_or(0.0);
        let rows: Vec<f32> =
            decision.iter().flat_map(|(_, taken)| hands.iter().map(move |hand| share(taken, hand))).collect();
        game.lock_current_strategy(&rows);
    }
    for (number, word) in words.iter().enumerate() {
        game.play(number);
        lock(game, policy, player, locked, &format!("{state}, {word}"));
        game.apply_history(&history);
    }
}

// Prints what best responses win against a policy of ours, in chips, by this library's own measure.
fn measure(game: &mut PostFlopGame, policy: &Policy, board: &str) {
    let mut won = [0.0; 2];
    for player in 0..2 {
        lock(game, policy, player, true, board);
        game.back_to_root();
        won[1 - player] = compute_mes_ev(game)[1 - player];
        lock(game, policy, player, false, board);
        game.back_to_root();
    }
    // Each is less half of the pot, so that the two sum to twice the exploitability.
    println!("{} decisions: exploitability {:.4} chips", policy.len(), (won[0] + won[1]) / 2.0);
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words[2] == "read" {
        let stack = words.get(4).map_or(20000, |stack| stack.parse().unwrap());
        let range = |number: usize| words.get(number).map_or(Range::ones(), |range| range.parse().unwrap());
        let mut game = spot(&words[1], stack, [range(5), range(6)]);
        game.allocate_memory(false);
        return measure(&mut game, &policy_of(&words[3]), &format!("board {}", words[1]));
    }
    let (iterations, between): (u32, u32) = (words[3].parse().unwrap(), words[4].parse().unwrap());
    let mut game = spot(&words[1], 20000, [Range::ones(), Range::ones()]);
    let (bytes32, bytes16) = game.memory_usage();
    println!("{:.2} MB in 32 bits, {:.2} MB in 16", bytes32 as f64 / 1e6, bytes16 as f64 / 1e6);
    game.allocate_memory(words[2] == "16");
    let mut seconds = 0.0;
    for t in 0..iterations {
        let began = processor_seconds();
        solve_step(&game, t);
        seconds += processor_seconds() - began;
        if (t + 1) % between == 0 {
            let percent = compute_exploitability(&game) / 10.0;
            let each = 1e3 * seconds / (t + 1) as f64;
            println!("{} iterations: {:.4}% of the pot, {:.3} ms of the processor each", t + 1, percent, each);
        }
    }
}
