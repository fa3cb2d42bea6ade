// Solves the subgames of `sog bench rebel` by ReBeL's own program: one die each, 1,024 updates of linear CFR-D to depth
// 2, in its own self-play. It is ours and calls only what that program offers; nothing of it is here.
//
// In a checkout of https://github.com/facebookresearch/rebel (7960a42), none of whose files is changed (one of them
// lacks `#include <fstream>`), with SOG the folder of this repository and TORCH what
// `python -c "import torch; print(torch.__path__[0])"` prints (PyTorch 2.13):
//     cd csrc/liars_dice
//     g++ -std=c++20 -O3 -march=native -DNDEBUG -include fstream -I. -I$TORCH/include
//         -I$TORCH/include/torch/csrc/api/include $SOG/soglab/baselines/rebel_subgames.cpp liars_dice.cc
//         subgame_solving.cc recursive_solving.cc -rdynamic -L$TORCH/lib -Wl,-rpath,$TORCH/lib
//         -ltorch -ltorch_cpu -lc10 -o rebel_subgames
//     OMP_NUM_THREADS=1 ./rebel_subgames 4 direct 10 1x4.pt
// Faces, network, seconds (0: the values at the root of the game instead), file, updates (1024). Networks: script (as
// its program runs them), frozen (by torch::jit::freeze), direct (a ReLU network's layers one after another, the
// fastest), constant (by hand, from -0.3 to 0.4). Files are written by `python -m soglab.baselines.rebel_network`; the
// network of its own configuration, with GELU and layer normalisation, at the top of its checkout by
//     python -c "import torch; from cfvpy.models import Net2; torch.jit.script(Net2(num_faces=4, num_dice=1,
//         n_hidden=256, n_layers=2, use_layer_norm=True)).save('net2.pt')"
// With -DMKL_AS_ON_INTEL, MKL takes the kernels that it has for Intel's processors on other makers', too.

#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include <torch/script.h>

#include "recursive_solving.h"

using namespace liars_dice;

#ifdef MKL_AS_ON_INTEL
extern "C" int mkl_serv_intel_cpu_true() { return 1; }
#endif

// User and system time of this process.
double processor_seconds() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Answers float32[B, H] for queries, and counts.  questions: queries.  values: rows that solved subgames left.
struct Network : IValueNet {
    static constexpr int64_t kMost = 4096;  // leaves of a subgame
    const int64_t hands;
    const std::string kind;
    int64_t questions = 0, values = 0;
    double seconds = 0;
    torch::jit::Module module;
    std::vector<torch::Tensor> weights, biases, room;  // of `direct`
    torch::Tensor answers;                             // of `constant`

    Network(int64_t hands, const std::string& kind, const std::string& file) : hands(hands), kind(kind) {
        if (kind == "constant") {
            answers = torch::linspace(-0.3, 0.4, hands).repeat({kMost, 1});
            return;
        }
        module = torch::jit::load(file);
        module.eval();
        if (kind == "frozen") module = torch::jit::freeze(module);
        if (kind != "direct") return;
        for (const auto& parameter : module.named_parameters()) {
            auto value = parameter.value.detach();
            if (value.dim() == 1) {
                biases.push_back(value);
            } else {
                weights.push_back(value.t().contiguous());
                room.push_back(torch::empty({kMost, value.size(0)}));
            }
        }
    }

    torch::Tensor answer(const torch::Tensor& queries) {
        const int64_t count = queries.size(0);
        if (kind == "constant") return answers.narrow(0, 0, count).clone();
        if (kind != "direct") return module.forward({queries}).toTensor();
        torch::Tensor x = queries;
        for (size_t k = 0; k < weights.size(); ++k) {
            auto y = room[k].narrow(0, 0, count);
            at::addmm_out(y, biases[k], x, weights[k]);
            x = k + 1 < weights.size() ? y.relu_() : y;
        }
        return x;
    }

    torch::Tensor compute_values(const torch::Tensor queries) override {
        const double began = processor_seconds();
        auto out = answer(queries);
        // Of a network that answers for both players: the values of the one who is asked for, the second number.
        if (out.size(1) > hands) out = out.narrow(1, queries.data_ptr<float>()[1] > 0.5f ? hands : 0, hands);
        questions += queries.size(0);
        seconds += processor_seconds() - began;
        return out;
    }

    void add_training_example(const torch::Tensor, const torch::Tensor) override { ++values; }
};

int main(int count, char** words) {
    if (count < 4) return std::printf("rebel_subgames FACES NETWORK SECONDS [FILE [UPDATES]]\n"), 2;
    at::set_num_threads(1);
    const at::InferenceMode no_gradients;
    const int faces = std::stoi(words[1]);
    const double least = std::stod(words[3]);
    auto network = std::make_shared<Network>(faces, words[2], count > 4 ? words[4] : "");
    // As its conf/c02_selfplay/liars_sp.yaml has them, with CFR in the place of fictitious play.
    RecursiveSolvingParams params;
    params.num_dice = 1;
    params.num_faces = faces;
    params.random_action_prob = 0.25;
    params.sample_leaf = true;
    params.subgame_params.num_iters = count > 5 ? std::stoi(words[5]) : 1024;
    params.subgame_params.max_depth = 2;
    params.subgame_params.linear_update = params.subgame_params.use_cfr = true;
    if (least == 0) {
        const Game game(1, faces);
        const auto solver = build_solver(game, params.subgame_params, network);
        solver->multistep();
        for (int player : {0, 1}) {
            std::printf("player %d:", player);
            for (double value : solver->get_hand_values(player)) std::printf(" %.4f", value);
            std::printf("\n");
        }
        return 0;
    }
    RlRunner runner(params, network, /*seed=*/1);
    runner.step();  // the first calls of a network take longer
    network->questions = network->values = 0;
    network->seconds = 0;
    double spent = 0;
    const double began = processor_seconds();
    while ((spent = processor_seconds() - began) < least) runner.step();
    const double subgames = network->values / 2.0;  // each leaves both players' values
    std::printf("%.4g subgames a second, %.0f%% of the time in the network, %.0f questions a subgame, %.0f subgames\n",
                subgames / spent, 100 * network->seconds / spent, network->questions / subgames, subgames);
}
