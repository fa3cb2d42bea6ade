// Solves the spots of `sog bench holdem` by postflop-solver: every hand, pot 1,000, stacks 20,000, bets and raises of
// half the pot, the pot and all-in. It is ours and calls only what that library offers; nothing of it is here.
//
// In a checkout of https://github.com/b-inary/postflop-solver (9d1509f): copy this file to examples/spot.rs, then
//     RUSTFLAGS="-C target-cpu=native" cargo build --release --example spot
//     RAYON_NUM_THREADS=1 target/release/examples/spot 2s2h2d7c9c 32 1000 200
// BOARD, 32 or 16 bits, iterations, iterations between two lines. Newer compilers want RUSTFLAGS to hold
// `-A dangerous_implicit_autorefs`, too.

use postflop_solver::*;

// User and system time of this process, in seconds (Linux).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn spot(board: &str) -> PostFlopGame {
    let on_river = board.len() == 10;
    let every_hand = Range::ones();
    let cards = CardConfig {
        range: [every_hand.clone(), every_hand],
        flop: flop_from_str(&board[0..6]).unwrap(),
        turn: card_from_str(&board[6..8]).unwrap(),
        river: if on_river { card_from_str(&board[8..10]).unwrap() } else { NOT_DEALT },
    };
    let bets = BetSizeOptions::try_from(("50%,100%,a", "50%,100%,a")).unwrap();
    let both = || [bets.clone(), bets.clone()];
    let tree = TreeConfig {
        initial_state: if on_river { BoardState::River } else { BoardState::Turn },
        starting_pot: 1000,
        effective_stack: 20000,
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

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (iterations, between): (u32, u32) = (words[3].parse().unwrap(), words[4].parse().unwrap());
    let mut game = spot(&words[1]);
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
