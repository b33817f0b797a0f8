/**
 * The {@code softdpu} command: one class per command, and classes that all of them share.
 *
 * <p>This module is the only place that writes to standard output and that chooses an exit code
 * ({@link io.softdpu.cli.ExitCode}); the libraries below return values and throw. Standard output
 * carries results alone; progress, logs and errors go to standard error.
 *
 * <p>A command runs on the main thread, which is also the control thread of a storage role. It owns
 * the machine and the role that it opens and closes them before it returns. Standing beside the
 * main thread are only the watchers of {@link io.softdpu.cli.AbortWatch}.
 */
@NullMarked
package io.softdpu.cli;

import org.jspecify.annotations.NullMarked;
