# frozen_string_literal: true

# A question with its answers; the first post is the question.
class Topic < ApplicationRecord
  PAGE = 50 # posts

  has_many :posts, -> { order(:id) }, inverse_of: :topic

  validates :title, presence: true, length: { maximum: 120 }
  before_validation { self.last_post_at ||= Time.current }

  scope :latest, -> { order(last_post_at: :desc, id: :desc) }

  # However long a topic is, a page of it is no longer than the others.
  def posts_on(page)
    posts.includes(:attachment).offset((page - 1) * PAGE).limit(PAGE)
  end

  def pages
    [(posts_count - 1) / PAGE + 1, 1].max
  end

  # Saves the topic and its first post, or neither; then false, and what was wrong with either is among the errors.
  def open_with(post)
    transaction do
      save!
      post.update!(topic: self)
    end
    true
  rescue ActiveRecord::RecordInvalid => error
    errors.merge!(error.record.errors) unless error.record.equal?(self)
    false
  end
end
