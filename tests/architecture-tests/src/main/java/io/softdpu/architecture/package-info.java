/**
 * Rules over all modules: dependencies between modules and packages, calls that are not permitted,
 * descriptions of classes, files of the repository, and the clauses that the tests of all modules
 * show.
 *
 * <p>Reads what the modules before it in the build have left in their target folders; owns nothing.
 */
@NullMarked
package io.softdpu.architecture;

import org.jspecify.annotations.NullMarked;
