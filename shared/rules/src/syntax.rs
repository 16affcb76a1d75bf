//! From a text to the tree that the `cel` crate's parser makes of it, and back to places in the text.
//!
//! The parser calls itself for what is nested, and what uses the tree does so too. A text that nests too deep
//! for a small stack is therefore refused on its tokens, before the parser sees it; so are tokens that are
//! none, since the parser cuts texts at their ends.

use std::cell::OnceCell;
use std::sync::Arc;

use cel::common::ast::{IdedExpr, SourceInfo};
use cel::parser::PrattParser;
use cel::parser::pratt_parser::{Lexer, Token, TokenKind};

use crate::error::CompileError;
use crate::expression::Expression;

/// A text whose tokens were looked at.
pub(crate) struct Source<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    places: OnceCell<Option<Arc<SourceInfo>>>,
}

/// How much deeper a bracket makes the tree: at most the four nodes of a comprehension.
const BRACKET: usize = 4;

impl<'t> Source<'t> {
    /// The text's tokens, without white space and comments.
    pub(crate) fn read(text: &'t str) -> Result<Self, CompileError> {
        let mut source = Self {
            text,
            tokens: Vec::new(),
            places: OnceCell::new(),
        };
        if text.chars().count() > Expression::MOST_CHARACTERS {
            let most = Expression::MOST_CHARACTERS;
            return Err(source.error(0, format!("it has more than {most} characters")));
        }
        let mut lexer = Lexer::new(text);
        let mut token = lexer.lex();
        while token.kind != TokenKind::TokEnd {
            if token.kind == TokenKind::TokError {
                let message = lexer.get_error().map_or("not understood", |e| &e.message);
                return Err(source.error(token.start, message.to_owned()));
            }
            if !matches!(token.kind, TokenKind::TokWhitespace | TokenKind::TokComment) {
                source.tokens.push(token);
            }
            token = lexer.lex();
        }
        match source.too_deep() {
            Some(at) => Err(source.error(at, "it is nested too deep".to_owned())),
            None => Ok(source),
        }
    }

    /// The tree.
    pub(crate) fn parse(&self) -> Result<IdedExpr, CompileError> {
        parser().parse(self.text).map_err(|errors| {
            let first = errors.errors.into_iter().next();
            let (at, message) = first.map_or((0, String::new()), |first| {
                (self.offset(first.pos), first.msg)
            });
            self.error(at, told(&message))
        })
    }

    /// An error at a byte of the text.
    pub(crate) fn error(&self, at: usize, message: String) -> CompileError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        CompileError {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            message,
        }
    }

    /// Where a node of the tree is in the text, in bytes. The parser tells it only of a text that it refuses;
    /// so it is given this one once more, with a bracket at its end that nothing opens. Its nodes are counted
    /// as they were.
    pub(crate) fn place(&self, node: u64) -> usize {
        let places = self.places.get_or_init(|| {
            let errors = parser().parse(&format!("{}\n)", self.text)).err()?;
            errors
                .errors
                .into_iter()
                .find_map(|error| error.source_info)
        });
        let range = places.as_ref().and_then(|places| places.offset_for(node));
        range.map_or(0, |(start, _)| usize::try_from(start).unwrap_or_default())
    }

    /// Where a call's name is. A call is placed at its name or, with a value before it, at its bracket.
    pub(crate) fn place_of_name(&self, node: u64, name: &str) -> usize {
        let at = self.place(node);
        let named = |token: &&Token| token.start <= at && self.written(token) == name;
        self.tokens
            .iter()
            .rev()
            .find(named)
            .map_or(at, |token| token.start)
    }

    /// A number with a fraction or an exponent as it is written at this node.
    pub(crate) fn decimal(&self, node: u64) -> String {
        let at = self.place(node);
        let mut tokens = self.tokens.iter().skip_while(|token| token.start < at);
        let number = tokens.find(|token| token.kind == TokenKind::TokFloat);
        let sign = if self
            .text
            .get(at..)
            .is_some_and(|text| text.starts_with('-'))
        {
            "-"
        } else {
            ""
        };
        let text = number.map_or("", |token| self.written(token));
        let plain = text.trim_start_matches('0');
        // JSON wants one digit before the point.
        let digit = if plain.starts_with(|c: char| c.is_ascii_digit()) {
            ""
        } else {
            "0"
        };
        format!("{sign}{digit}{plain}")
    }

    fn written(&self, token: &Token) -> &'t str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// The parser counts a column in bytes, from 1.
    fn offset(&self, (line, column): (isize, isize)) -> usize {
        let number = |place: isize| usize::try_from(place).unwrap_or_default().saturating_sub(1);
        let lines = self.text.split_inclusive('\n');
        let before: usize = lines.take(number(line)).map(str::len).sum();
        (before + number(column)).min(self.text.len())
    }

    /// The first place where the tree may get too deep.
    fn too_deep(&self) -> Option<usize> {
        let mut level = Level::default();
        let mut around = Vec::new();
        for token in &self.tokens {
            if opens(token.kind) {
                let above = level.above + level.depth() + BRACKET;
                around.push(std::mem::replace(&mut level, Level::within(above)));
            } else if closes(token.kind) {
                // What closes without being opened is the parser's to refuse.
                let inner = level.depth() + BRACKET;
                if let Some(outer) = around.pop() {
                    level = outer;
                    level.inside = level.inside.max(inner);
                    level.signs += 1;
                }
            } else {
                level.step(token.kind);
            }
            if level.above + level.depth() > Expression::MOST_DEPTH {
                return Some(token.start);
            }
        }
        None
    }
}

/// How deep the tree may be within one pair of brackets.
#[derive(Default)]
struct Level {
    /// How deep the brackets themselves may be.
    above: usize,
    /// Signs of the term so far, of which each may lie above the one before.
    signs: usize,
    /// The deepest brackets of the term.
    inside: usize,
    /// The deepest term so far.
    most: usize,
    /// Conditions, of which each lies within the one before.
    conditions: usize,
}

impl Level {
    fn within(above: usize) -> Self {
        Self {
            above,
            ..Self::default()
        }
    }

    fn depth(&self) -> usize {
        self.most.max(self.signs + self.inside) + self.conditions
    }

    fn step(&mut self, kind: TokenKind) {
        if kind == TokenKind::TokComma {
            self.most = self.depth();
            self.conditions = 0;
        } else if separates(kind) {
            self.most = self.most.max(self.signs + self.inside);
            self.conditions += usize::from(kind == TokenKind::TokQuestion);
        } else {
            self.signs += usize::from(!is_value(kind));
            return;
        }
        self.signs = 0;
        self.inside = 0;
    }
}

/// Between terms of which none lies within another one; the parser makes a balanced tree of these.
fn separates(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::TokLogicalAnd
            | TokenKind::TokLogicalOr
            | TokenKind::TokQuestion
            | TokenKind::TokColon
    )
}

fn opens(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::TokLeftBracket | TokenKind::TokLeftBrace | TokenKind::TokLeftParen
    )
}

fn closes(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::TokRightBracket | TokenKind::TokRightBrace | TokenKind::TokRightParen
    )
}

fn is_value(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::TokIdent
            | TokenKind::TokInt
            | TokenKind::TokUint
            | TokenKind::TokFloat
            | TokenKind::TokString
            | TokenKind::TokNull
            | TokenKind::TokTrue
            | TokenKind::TokFalse
    )
}

fn parser() -> PrattParser {
    PrattParser::new()
}

fn told(message: &str) -> String {
    let message = message.trim_start_matches("Syntax error: ");
    let message = message
        .replace("'<EOF>'", "the end")
        .replace("<EOF>", "the end");
    match message.as_str() {
        "invalid int literal" | "invalid uint literal" | "invalid double literal" => {
            format!("{message}: too large to stand in a rule; write number(\"…\")")
        }
        _ => message,
    }
}
