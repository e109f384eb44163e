;;; Opens $FILE, goes behind the last $AFTER, takes the first suggestion over, saves. With $SELECTED:
;;; fills this text, which stands there, by a code action.
;;; $CLIENT: eglot, lsp-mode or "ghost text" (lsp-mode's).

(require 'seq)
(require 'subr-x)

(defun until (what holds)
  "Wait for HOLDS, at most 60 seconds; WHAT is said when it never comes true."
  (let ((ends-at (+ 60 (float-time))))
    (while (not (funcall holds))
      (when (> (float-time) ends-at) (error "Never came true: %s" what))
      (accept-process-output nil 0.05))))

(defun connect (client)
  "Attach the language server to this buffer, as a user of CLIENT does."
  (if (equal client "eglot")
      (call-interactively 'eglot)
    (lsp-workspace-folders-add default-directory)
    (lsp)
    (until "initialized"
           (lambda ()
             (seq-some (lambda (workspace)
                         (eq 'initialized (lsp--workspace-status workspace)))
                       (lsp-workspaces))))))

(defun take-first-candidate ()
  "Take over what tops the menu, as front ends of `completion-at-point-functions' do."
  (pcase-let* ((`(,start ,end ,table . ,properties)
                (run-hook-with-args-until-success 'completion-at-point-functions))
               (typed (buffer-substring-no-properties start end))
               (metadata (completion-metadata typed table (plist-get properties :predicate)))
               (sort (or (cdr (assq 'display-sort-function metadata)) #'identity))
               (candidate (car (funcall sort (all-completions typed table)))))
    (message "candidate: %S" candidate)
    (delete-region start end)
    (insert candidate)
    (funcall (plist-get properties :exit-function) candidate 'finished)))

(defun fill-selection (length)
  "Replace so many characters after point by the code action that fills them."
  (let* ((end (+ (point) length))
         (before (buffer-string))
         (kind "refactor.rewrite.intarsia.fill")
         (action (seq-find (lambda (action) (equal kind (plist-get action :kind)))
                           (eglot-code-actions (point) end)))
         (command (plist-get action :command)))
    (eglot-execute-command (eglot--current-server-or-lose)
                           (plist-get command :command)
                           (plist-get command :arguments))
    (until "an edit" (lambda () (not (equal before (buffer-string)))))))

(let ((client (getenv "CLIENT"))
      (selected (getenv "SELECTED")))
  (setq python-indent-guess-indent-offset nil
        make-backup-files nil
        eglot-sync-connect 60
        eglot-confirm-server-initiated-edits nil
        lsp-auto-guess-root t
        lsp-enable-file-watchers nil
        lsp-enable-suggest-server-download nil
        lsp-session-file (expand-file-name "session" (getenv "HOME")))
  (find-file (getenv "FILE"))
  (setq case-fold-search nil)
  (connect client)
  (goto-char (point-max))
  (search-backward (getenv "AFTER"))
  (goto-char (match-end 0))
  (cond ((not (string-empty-p selected))
         (fill-selection (length selected)))
        ((equal client "ghost text")
         (lsp-inline-completion-display)
         (lsp-inline-completion-accept))
        (t
         (take-first-candidate)))
  (save-buffer))
