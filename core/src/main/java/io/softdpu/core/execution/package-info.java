/**
 * How work gets done: contexts that do it and tasks that describe it (Core guide, section 3.4, in
 * the words of later releases).
 *
 * <p>A context and its tasks belong to the thread of the engine that it is connected to. Callbacks
 * run inside that engine's progress and nowhere else, so a program without locks is right as long
 * as it keeps to one thread an engine.
 */
@NullMarked
package io.softdpu.core.execution;

import org.jspecify.annotations.NullMarked;
