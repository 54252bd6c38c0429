// What came of one run of the suite: every complaint, then one line of numbers. Fails unless all is as expected.json
// says.
//
//   report.mjs RUN RESULTS EXIT_CODE
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [run, results, exit_code] = process.argv.slice(2);
const { skipped, runs } = JSON.parse(readFileSync(new URL('expected.json', import.meta.url), 'utf8'));
const expected = runs[run];
const complaints = [];

// {scenario: [check]}; a directory is named server-SCENARIO-TIME.
function read_results() {
  const scenarios = {};
  for (const directory of readdirSync(results)) {
    const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT[-\dZ]*$/.exec(directory)?.[1];
    if (!scenario) throw new Error(`not the results of a scenario: ${directory}`);
    scenarios[scenario] = JSON.parse(readFileSync(join(results, directory, 'checks.json'), 'utf8'));
  }
  return scenarios;
}

function is_excused(scenario, check) {
  if (check.status === 'SKIPPED' && scenario in skipped) return true;
  return expected.takes_fixtures?.[scenario]?.includes(check.id) ?? false;
}

// Counts what has passed; everything else but information is a complaint.
function passed_checks(scenario, checks) {
  for (const check of checks) {
    if (['SUCCESS', 'INFO'].includes(check.status) || is_excused(scenario, check)) continue;
    const details = check.details ? `\n    ${JSON.stringify(check.details).slice(0, 2000)}` : '';
    complaints.push(`${check.status} ${scenario}: ${check.id}\n    ${check.errorMessage ?? check.description}${details}`);
  }
  return checks.filter((check) => check.status === 'SUCCESS').length;
}

const found = read_results();
// A server without fixtures cannot pass everything: the scenarios that it has to pass are listed.
const wanted = expected.scenarios ?? Object.keys(found);
let checks = 0;
let scenarios = 0;
for (const scenario of wanted) {
  const passed = passed_checks(scenario, found[scenario] ?? []);
  checks += passed;
  if (passed > 0) scenarios += 1;
  else if (!(scenario in skipped)) complaints.push(`nothing of ${scenario} has passed`);
}
const least = { scenarios: expected.scenarios?.length ?? expected.least_scenarios, checks: expected.least_checks };
if (scenarios < least.scenarios) complaints.push(`${scenarios} scenarios have passed, expected ${least.scenarios}`);
if (checks < least.checks) complaints.push(`${checks} checks have passed, expected ${least.checks}`);
if (!expected.scenarios && exit_code !== '0') complaints.push(`the suite ended with ${exit_code}`);

for (const complaint of complaints) console.log(complaint);
console.log(`${run}: ${scenarios} scenarios, ${checks} checks passed, ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;
