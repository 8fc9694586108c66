/* Puts a universe of operators before libsolv and measures it.
 *
 *   universe FILE ROUNDS
 *
 * FILE holds lines of one letter, a space and a text:
 *   s NAME EVR   begins a solvable
 *   p CAP        it provides CAP
 *   c CAP        it conflicts with everybody else who provides CAP
 *   r CAP        it requires CAP
 *   j NAME       the job: install NAME (all of them together)
 *
 * It prints the number of problems, a line "i NAME" for each solvable that is
 * installed, and the milliseconds of each round, of a fresh solver over the
 * finished pool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <solv/pool.h>
#include <solv/repo.h>
#include <solv/solver.h>
#include <solv/transaction.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	static char line[1 << 16];
	if (argc != 3)
		return 2;
	FILE *f = fopen(argv[1], "r");
	if (!f)
		return 2;
	int rounds = atoi(argv[2]);
	Pool *pool = pool_create();
	Repo *repo = repo_create(pool, "universe");
	Queue job;
	queue_init(&job);
	Solvable *s = 0;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		char *text = line + 2;
		if (line[0] == 's') {
			char *evr = strchr(text, ' ');
			*evr++ = 0;
			s = pool_id2solvable(pool, repo_add_solvable(repo));
			s->name = pool_str2id(pool, text, 1);
			s->evr = pool_str2id(pool, evr, 1);
			s->arch = ARCH_NOARCH;
			solvable_add_deparray(s, SOLVABLE_PROVIDES, pool_rel2id(pool, s->name, s->evr, REL_EQ, 1), 0);
		} else if (line[0] == 'j') {
			queue_push2(&job, SOLVER_SOLVABLE_NAME | SOLVER_INSTALL, pool_str2id(pool, text, 1));
		} else {
			Id cap = pool_str2id(pool, text, 1);
			Id array = line[0] == 'p' ? SOLVABLE_PROVIDES : line[0] == 'c' ? SOLVABLE_CONFLICTS : SOLVABLE_REQUIRES;
			solvable_add_deparray(s, array, cap, 0);
		}
	}
	pool_addfileprovides(pool);
	pool_createwhatprovides(pool);
	for (int i = 0; i < rounds; i++) {
		double from = now();
		Solver *solv = solver_create(pool);
		int problems = solver_solve(solv, &job);
		Transaction *t = solver_create_transaction(solv);
		double ms = now() - from;
		if (i == 0) {
			printf("%d\n", problems);
			for (int j = 0; j < t->steps.count; j++)
				printf("i %s\n", pool_id2str(pool, pool_id2solvable(pool, t->steps.elements[j])->name));
		}
		printf("%.4f\n", ms);
		transaction_free(t);
		solver_free(solv);
	}
	return 0;
}
