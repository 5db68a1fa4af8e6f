/**
 * What the engine knows before it knows an entry, from the tables of knowledge.json that both engines share.
 * Twin of generator/diagnose/knowledge.py.
 */

/** @typedef {{id: string, expression: string, fields?: string[], starts?: string, literals: string[], grade?: string}} TaggedRow */
/** @typedef {{text: string, without?: string, command: string}} MissingRow */
/** @typedef {{text: string, command: string, restart: string}} ActionRow */
/**
 * @typedef {{
 *   prefixes: TaggedRow[], labels: TaggedRow[], files: TaggedRow[], errors: TaggedRow[], consequences: TaggedRow[],
 *   python: Record<string, string>, watchdog: Record<string, string>, single: Record<string, string>,
 *   words: Record<string, string>, types: Record<string, string[]>, signals: Record<string, number>,
 *   signals_of_errors: Record<string, number>,
 *   wrapper_messages: string[], months: string[], literals: string[],
 *   explains: {id: string, first: string, then: string}[], world: {literal: string, expression: string}[],
 *   missing: Record<string, MissingRow>, actions: Record<string, ActionRow>, why: Record<string, string>,
 * }} Tables
 */

/** A first line of which the later one is the consequence. @typedef {{id: string, first: RegExp, then: RegExp}} Explains */

/** @param {string} expression */
export function compileExpression(expression) {
  return new RegExp(expression, "su");
}

/**
 * An expression with a name, and what its groups hold. It can match only a text that begins with one of `starts`
 * and has one of `literals`, where there are any.
 */
export class Tagged {
  /** @param {TaggedRow} row */
  constructor({ id, expression, fields = [], starts = "", literals, grade = "" }) {
    this.id = id;
    this.pattern = compileExpression(expression);
    this.fields = fields;
    this.starts = starts;
    this.literals = literals;
    this.grade = grade;
  }

  /** @param {string} text */
  exec(text) {
    return this.literals.length === 0 || this.hasLiteral(text) ? this.pattern.exec(text) : null;
  }

  /** All matches, one after the other. @param {string} text */
  all(text) {
    return [...text.matchAll(new RegExp(this.pattern, "gsu"))];
  }

  /** @param {string} text */
  hasLiteral(text) {
    return this.literals.some((literal) => text.includes(literal));
  }
}

/** Tagged expressions in order, of which only those are tried that a text can match at all. */
export class Table {
  /** @param {TaggedRow[]} rows */
  constructor(rows) {
    this.rows = rows.map((row) => new Tagged(row));
    this.always = this.rows.filter((row) => row.starts === "");
    const firsts = new Set(this.rows.flatMap((row) => [...row.starts]));
    this.byCharacter = new Map(
      [...firsts].map((first) => [first, this.rows.filter(({ starts }) => starts === "" || starts.includes(first))]),
    );
  }

  /** The rows that a text with this first character can match, where rows tell how they start. @param {string} text */
  byFirst(text) {
    return this.byCharacter.get(text.slice(0, 1)) ?? this.always;
  }

  /** The rows of which the text has a literal, where all rows have some. @param {string} text */
  byLiteral(text) {
    return this.rows.filter((row) => row.hasLiteral(text));
  }
}

/** The tables, with their expressions compiled. */
export class Knowledge {
  /** @param {Tables} tables */
  constructor(tables) {
    this.prefixes = new Table(tables.prefixes);
    this.labels = tables.labels.map((row) => new Tagged(row));
    this.files = tables.files.map((row) => new Tagged(row));
    this.errors = new Table(tables.errors);
    this.consequences = tables.consequences.map((row) => new Tagged(row));
    /** @type {Explains[]} */
    this.explains = tables.explains.map(({ id, first, then }) => ({
      id,
      first: compileExpression(first),
      then: compileExpression(then),
    }));
    this.python = compiled(tables.python);
    this.watchdog = compiled(tables.watchdog);
    this.single = compiled(tables.single);
    this.bars = new RegExp(tables.single.bar, "gsu");
    this.words = tables.words;
    this.wrapperMessages = tables.wrapper_messages.map(compileExpression);
    this.world = tables.world.map(({ literal, expression }) => ({ literal, pattern: compileExpression(expression) }));
    this.types = new Map(
      Object.entries(tables.types).flatMap(([role, names]) =>
        names.map((name) => /** @type {[string, string]} */ ([name, role])),
      ),
    );
    this.signals = new Map(Object.entries(tables.signals));
    this.signalsOfErrors = new Map(Object.entries(tables.signals_of_errors));
    this.months = new Map(tables.months.map((name, i) => [name, i + 1]));
    this.literals = tables.literals;
  }
}

/** @param {Record<string, string>} table @returns {Record<string, RegExp>} */
function compiled(table) {
  return Object.fromEntries(Object.entries(table).map(([name, text]) => [name, compileExpression(text)]));
}
