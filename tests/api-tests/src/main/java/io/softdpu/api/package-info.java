/**
 * Misuse of the public API of core, comch, rdma and compute: every public constructor and method
 * that reflection finds is called in every state of its object, on a wrong thread, on a closed
 * object, and with arguments that are null, out of range or used up. The answer has to be a status,
 * never another exception, a hang or a crash.
 *
 * <p>Tests only; they drive both sides of a card from one thread and own all that they open.
 */
@NullMarked
package io.softdpu.api;

import org.jspecify.annotations.NullMarked;
