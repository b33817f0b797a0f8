/**
 * The rules that no single module can hold: who may import whom, what stays out of which code, what
 * the repository must not carry, and which clauses the tests of all modules have shown.
 *
 * <p>Reads what the modules before it in the build have left in their target folders; owns nothing.
 */
@NullMarked
package io.softdpu.architecture;

import org.jspecify.annotations.NullMarked;
