// JSON Schema as ajv understands it in strict mode: dialect 2020-12, formats checked, unknown keywords and dubious
// constructions refused. Allowed are two that say what they mean: a list of types (["string", "null"]), and a property
// that is required under a condition while it is defined outside of it.
import Ajv2020 from 'ajv/dist/2020.js';
import add_formats from 'ajv-formats';

// Compiles the schemas of all tools: Map name -> {input, output}, functions that validate; no output: the tool says
// nothing of it.
export function compile_schemas(tools) {
  const ajv = new Ajv2020.default({
    strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true, verbose: true,
  });
  add_formats.default(ajv);
  const compile = (tool, which) => {
    try {
      return ajv.compile(tool[which]);
    } catch (error) {
      throw new Error(`${tool.name}, ${which}: ${error.message}`);
    }
  };
  const entries = tools.map((tool) => [
    tool.name,
    { input: compile(tool, 'inputSchema'), output: tool.outputSchema && compile(tool, 'outputSchema') },
  ]);
  return new Map(entries);
}

export function complaints(validate) {
  return (validate.errors ?? []).map((error) => `${error.instancePath || '/'} ${error.message}`).join('; ');
}
